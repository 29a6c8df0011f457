"""The report: runs side by side on one page that needs nothing else.

runs.py reads summaries, models and selections; charts.py draws; page.py puts it together; text.py shows
hostile names safely.
"""
