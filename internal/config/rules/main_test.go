package rules

import "flag"

// The rigs pass -full to every test program; these tests are as long as they are.
var _ = flag.Bool("full", false, "as without it")
