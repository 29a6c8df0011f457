"""`python -m fsstream` is `fsstream`."""

from fsstream.cli.main import main

main()
