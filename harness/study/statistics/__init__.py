"""Statistics of a study: the error of a measure, from parts or from seeds, and how curves compare."""
