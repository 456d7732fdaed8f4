"""The common part of importers of application records: streams of lines, remarks, samples."""
