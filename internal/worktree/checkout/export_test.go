package checkout

// Cut calls do before each change of a checkout; its error ends what the checkout does.
func (c *Checkout) Cut(do func() error) { c.step = do }

// Believe has a checkout take the file system's change times for honest, or not.
func (c *Checkout) Believe(honest bool) { c.force = &honest }
