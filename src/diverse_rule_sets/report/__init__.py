"""Plots of rule sets, and a report page in HTML. Needs the extra `report`."""

from diverse_rule_sets.report._coverage_display import CoverageDisplay
from diverse_rule_sets.report._overlap_display import Combination, OverlapDisplay
from diverse_rule_sets.report._page import html, write_html
from diverse_rule_sets.report._path_displays import FitPathDisplay, TradeOffDisplay
from diverse_rule_sets.report._point_levels import Cut, Level
from diverse_rule_sets.report._rule_display import Box, RuleDisplay
from diverse_rule_sets.report._scorecard_display import ScorecardDisplay

__all__ = [
    "Box",
    "Combination",
    "CoverageDisplay",
    "Cut",
    "FitPathDisplay",
    "Level",
    "OverlapDisplay",
    "RuleDisplay",
    "ScorecardDisplay",
    "TradeOffDisplay",
    "html",
    "write_html",
]
