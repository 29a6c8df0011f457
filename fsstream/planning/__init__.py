"""What a run will need, before it runs. `estimate` asks, `trial` runs beginnings, `extrapolation` goes on.

Nothing is imported here: a trial is a process of its own, whose memory is measured.
"""
