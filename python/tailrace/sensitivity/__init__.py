"""Which assumption decides which figure: every assumption over its range, by screening and by
shares of variance."""
