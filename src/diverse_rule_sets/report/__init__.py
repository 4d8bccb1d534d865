"""Rules to look at: pictures and a page of its own. Needs the extra `report`."""

from diverse_rule_sets.report._coverage import CoverageDisplay
from diverse_rule_sets.report._fit_path import FitPathDisplay, TradeOffDisplay
from diverse_rule_sets.report._html import html, write_html
from diverse_rule_sets.report._overlap import Combination, OverlapDisplay
from diverse_rule_sets.report._rectangle import Box, RuleDisplay

__all__ = [
    "Box",
    "Combination",
    "CoverageDisplay",
    "FitPathDisplay",
    "OverlapDisplay",
    "RuleDisplay",
    "TradeOffDisplay",
    "html",
    "write_html",
]
