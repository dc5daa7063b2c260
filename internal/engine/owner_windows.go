package engine

import "context"

// checkOwner takes every place: who may write to a folder of Windows stands in its access list, not in its owner.
func checkOwner(context.Context, Place) error { return nil }

func stranger(string) (owner int, other bool) { return 0, false }
