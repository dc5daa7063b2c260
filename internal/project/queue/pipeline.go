package queue

import "strings"

// pipelineLine begins the file of a pipeline that waits. Its name follows, then an empty line and the topic.
const pipelineLine = "pipeline: "

// Pipeline returns the pipeline and the topic of an item that is not a task but a pipeline that waits. An issue is none, whatever its title says.
func (it Item) Pipeline() (name, topic string, ok bool) {
	first, rest, _ := strings.Cut(it.Text, "\n")
	name, ok = strings.CutPrefix(first, pipelineLine)
	return strings.TrimSpace(name), strings.TrimSpace(rest), ok && it.Issue == ""
}
