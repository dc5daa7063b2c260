package store

// holdJudged is false where an open file cannot be removed or renamed. Such systems do not reuse
// the number of a file.
const holdJudged = false
