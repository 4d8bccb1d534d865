"""The tables and figures of "Diverse Rule Sets" (KDD 2020), made anew: ``make paper``."""
