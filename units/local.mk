# SPDX-License-Identifier: MIT
# Installed as examples: what lies in a unit directory is live, and that is the admin's decision.
example_units =

examplesdir = $(docdir)/examples/units
dist_examples_DATA = $(example_units)
