package proc

// Database is the pattern of the variables of PostgreSQL's clients, PGHOST and PGPASSFILE among them: with them a program could
// write the person's databases, one with ferrus's own records among them.
const Database = "PG*"

// Withheld are patterns of variables that no agent and no check gets, whatever is configured: those that [notify] urls may name,
// and those of a database.
var Withheld = []string{"FERRUS_NOTIFY*", Database}
