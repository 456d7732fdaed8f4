"""Problems and warnings of a well-formed scenario."""
