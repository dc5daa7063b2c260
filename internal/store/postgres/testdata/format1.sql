-- The tables of ferrus. A journal is never changed: rows are only added, but for a machine that is removed, which is only marked.
create table project (
	id    uuid primary key,
	name  text not null, -- the folder in which the project was made, for people
	made  timestamptz not null default clock_timestamp(),
	moved timestamptz -- when its machines were moved to files again; nobody writes them here afterwards
);

-- A node is a computer that works on projects.
create table node (
	id      uuid primary key,
	host    text not null, -- for people
	until   timestamptz not null -- it is lost afterwards, unless it is heard of again
);

create table machine (
	id      bigint generated always as identity primary key,
	project uuid not null references project,
	branch  text not null, -- '' for the project's own
	gone    timestamptz    -- when it was removed
);
create unique index machine_name on machine (project, branch) where gone is null;

-- The head says where the journal of a machine ends. Its lock is the lock of the machine.
create table head (
	machine bigint primary key references machine,
	seq     bigint not null, -- of the newest line, 0 for none
	epoch   bigint not null,
	bytes   bigint not null, -- the size of the journal: the next line starts here
	last    bigint not null, -- where the newest line starts
	h       bytea  not null  -- the hash of the newest line, '' for none
) with (fillfactor = 50);

-- The lease is what a renewal writes. It belongs to the holder at its epoch, and to nobody at another one.
create table lease (
	machine     bigint primary key references machine,
	epoch       bigint not null,
	boot        text   not null,
	clock       text   not null,
	deadline_ns bigint not null,
	ttl_ns      bigint not null,
	until       timestamptz,
	heartbeat   timestamptz
) with (fillfactor = 50);

create table journal (
	machine bigint not null references machine,
	seq     bigint not null,
	off     bigint not null, -- where the line starts: the length of all lines before it
	attempt uuid   not null unique, -- by which its writer finds it again after an answer that was lost
	line    bytea  not null, -- with its newline
	primary key (machine, seq),
	unique (machine, off)
);

create table session (
	id      text primary key,
	node    uuid   not null references node,
	machine bigint not null references machine,
	ended   timestamptz
);
create index session_of_node on session (node, ended);

-- A post is the right of one node to conduct a machine: to start agents for its task. It is free without a session, and when that has ended.
create table post (
	machine  bigint primary key references machine,
	epoch    bigint not null,            -- raised by everybody who takes it
	node     uuid references node,       -- who took it last
	session  text,                       -- of that conductor; null when it has left
	since    timestamptz,                -- when it was taken
	home     uuid references node,       -- whose work tree has the newest files; null when unknown
	home_seq bigint not null default 0,  -- the line of the journal since which that is so: it named a tree or claimed the work
	files    text not null default ''    -- the commit by which home has handed them over, '' for none
);

-- A run is an agent that a conductor has started. Budgets count those of all nodes.
create table run (
	machine bigint  not null references machine,
	task    text    not null,
	name    text    not null,
	n       bigint  generated always as identity, -- their order
	node    uuid    not null references node,
	session text    not null, -- which lives as long as its shim
	over    boolean not null,
	line    bytea   not null, -- its record
	primary key (machine, task, name)
);

-- The queue has the tasks that wait, and the names of those that were taken: a name is used once.
create table queue (
	project uuid   not null references project,
	name    text   not null,              -- of the branch that it becomes
	text    bytea  not null,
	source  uuid   not null unique,       -- by which its writer finds it again after an answer that was lost
	n       bigint generated always as identity, -- a new one for each change
	session text,                         -- of the process that makes its branch; null when none does
	node    uuid references node,         -- the computer of that process, also after it has ended without a word
	since   timestamptz,                  -- when that computer began, by its own clock
	machine bigint references machine,    -- the branch that was made of it
	taken   timestamptz,                  -- null while it waits
	primary key (project, name)
);

create table format (version int not null);
insert into format values (1);
