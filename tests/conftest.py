"""Settings of all tests: no test fails because the machine is busy."""

from hypothesis import settings

settings.register_profile("patient", parent=settings(), deadline=None)
settings.load_profile("patient")
