package lease_test

import (
	"fmt"
	"time"

	"github.com/ferrus-go/ferrus/internal/lease"
)

// A lease ends by its deadline, or at once when the process of its session has
// ended.
func ExampleDead() {
	now := lease.Instant{Boot: "this boot"}
	term := lease.Grant(now, 90*time.Second)

	later := now
	later.Nanos += (60 * time.Second).Nanoseconds()
	fmt.Println("after 60 s, alive:", lease.Dead(term, later, lease.Alive, false).Dead)
	fmt.Println("after 60 s, gone: ", lease.Dead(term, later, lease.Gone, false).Dead)

	later.Nanos += (60 * time.Second).Nanoseconds()
	fmt.Println("after 120 s, hung:", lease.Dead(term, later, lease.Alive, false).Dead)
	fmt.Println("it waits for you: ", lease.Dead(term, later, lease.Alive, true).Dead)
	// Output:
	// after 60 s, alive: false
	// after 60 s, gone:  true
	// after 120 s, hung: true
	// it waits for you:  false
}
