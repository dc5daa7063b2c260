package config

import _ "time/tzdata" // the system has none that Go reads
