package review

import "path"

// The files that a person has viewed are a file beside the drafts, one for each task: a mark holds as long as the content of its file is
// the same, and so over the next submission.

// maxViewed bounds the marks of a task.
const maxViewed = 5000

// viewedName is the file with the marks of the task of a subject. It begins as no draft of the task does.
func (s Subject) viewedName() (string, error) {
	_, err := s.name()
	return path.Join(folder, s.Branch+"@"+s.Task+".json"), err
}

// Viewed returns the files that the person has viewed in the task of a subject: the ids of their contents by their paths.
func (s Store) Viewed(about Subject) (map[string]string, error) {
	name, err := about.viewedName()
	if err != nil {
		return nil, err
	}
	var marks map[string]string
	if err := s.read(name, &marks); err != nil || marks != nil {
		return marks, err
	}
	return map[string]string{}, nil
}

// View marks a file with that content as viewed, or takes the mark away.
func (s Store) View(about Subject, file, id string, viewed bool) error {
	if file == "" || len(file) > 4096 || id != "" && !idForm.MatchString(id) {
		return wrong("the mark names no file of a patch")
	}
	unlock, err := s.lock(about)
	if err != nil {
		return err
	}
	defer unlock()
	marks, err := s.Viewed(about)
	if err != nil {
		return err
	}
	if delete(marks, file); viewed {
		marks[file] = id
	}
	if len(marks) > maxViewed {
		return wrong("a task has at most %d files that were viewed", maxViewed)
	}
	name, err := about.viewedName()
	if err != nil {
		return err
	}
	return s.replace(name, marks, "the marks of one task")
}
