"""Arms against the baseline, engines against each other, results against published figures."""
