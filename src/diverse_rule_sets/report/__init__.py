"""Rules to look at: pictures and a page of its own. Needs the extra `report`."""

from diverse_rule_sets.report._html import html, write_html

__all__ = ["html", "write_html"]
