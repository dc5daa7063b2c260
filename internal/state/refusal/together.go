package refusal

// Together returns one refusal for several: the first, which has the others as Also. It returns nil for none.
func Together(all []*RefusedError) error {
	if len(all) == 0 {
		return nil
	}
	first := *all[0]
	first.Also = append(first.Also[:len(first.Also):len(first.Also)], all[1:]...)
	return &first
}

// Each returns copies of the refusals that [Together] made one of, in their order.
func (r *RefusedError) Each() []*RefusedError {
	first := *r
	first.Also = nil
	all := []*RefusedError{&first}
	for _, also := range r.Also {
		more := *also
		all = append(all, &more)
	}
	return all
}
