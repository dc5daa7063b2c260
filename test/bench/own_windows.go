package main

import "time"

// own is the processor time of this process and of those below it that have ended: nobody asks for it here.
func own() time.Duration { return 0 }
