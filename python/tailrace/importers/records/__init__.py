"""What the importers of applications' own records have in common: lines as a stream, their fates,
samples."""
