package store

// holdJudged is false where an open file cannot be removed or renamed. There the number of a file is not given to another.
const holdJudged = false
