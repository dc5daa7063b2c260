-- The tables of ferrus. A journal is never changed: rows are only added, but for a machine that is removed, which is only marked.
--
-- This makes tables of an older format those of this one too: what they lack stands at the end.
create table if not exists project (
	id    uuid primary key,
	name  text not null, -- the folder in which the project was made, for people
	made  timestamptz not null default clock_timestamp(),
	moved timestamptz, -- when it was taken out of the database; nobody writes its machines here afterwards
	moved_how  text not null default '', -- 'files', 'removed' or 'withdrawn'; '' for one that an older ferrus has moved to files
	moved_node uuid,                     -- who did that: one node alone
	moved_host text not null default '', -- of that node, for people
	moved_root text not null default ''  -- the folder there, for people
);

-- A member is a folder that was moved into a project or has joined it, even if it does nothing.
create table if not exists member (
	project uuid not null references project,
	node    uuid not null,
	host    text not null, -- for people
	root    text not null, -- the folder there, for people
	since   timestamptz not null default clock_timestamp(),
	primary key (project, node)
);

-- A node is a computer that works on projects.
create table if not exists node (
	id      uuid primary key,
	host    text not null, -- for people
	until   timestamptz not null, -- it is lost afterwards, unless it is heard of again
	heard   timestamptz           -- when it was heard of last, for people; null if only an older ferrus has said so
);

create table if not exists machine (
	id      bigint generated always as identity primary key,
	project uuid not null references project,
	branch  text not null, -- '' for the project's own
	gone    timestamptz    -- when it was removed
);
create unique index if not exists machine_name on machine (project, branch) where gone is null;

-- The head says where the journal of a machine ends. Its lock is the lock of the machine.
create table if not exists head (
	machine bigint primary key references machine,
	seq     bigint not null, -- of the newest line, 0 for none
	epoch   bigint not null,
	bytes   bigint not null, -- the size of the journal: the next line starts here
	last    bigint not null, -- where the newest line starts
	h       bytea  not null, -- the hash of the newest line, '' for none
	closed  boolean not null default false -- nobody writes the journal any more: the machine was removed, or the project was moved
) with (fillfactor = 50);

-- The lease is what a renewal writes. It belongs to the holder at its epoch, and to nobody at another one.
create table if not exists lease (
	machine     bigint primary key references machine,
	epoch       bigint not null,
	boot        text   not null,
	clock       text   not null,
	deadline_ns bigint not null,
	ttl_ns      bigint not null,
	until       timestamptz,
	heartbeat   timestamptz
) with (fillfactor = 50);

create table if not exists journal (
	machine bigint not null references machine,
	seq     bigint not null,
	off     bigint not null, -- where the line starts: the length of all lines before it
	attempt uuid   not null unique, -- by which its writer finds it again after an answer that was lost
	line    bytea  not null, -- with its newline
	primary key (machine, seq),
	unique (machine, off)
);

create table if not exists session (
	id      text primary key,
	node    uuid   not null references node,
	machine bigint not null references machine,
	ended   timestamptz
);
create index if not exists session_of_node on session (node, ended);

-- A post is the right of one node to conduct a machine: to start agents for its task. It is free without a session, and when that has ended.
create table if not exists post (
	machine  bigint primary key references machine,
	epoch    bigint not null,            -- raised by everybody who takes it
	node     uuid references node,       -- who took it last
	session  text,                       -- of that conductor; null when it has left
	since    timestamptz,                -- when it was taken
	home     uuid,                       -- the node whose work tree has the newest files; null when unknown
	host     text not null default '',   -- of that node, for people
	home_seq bigint not null default 0,  -- the line of the journal since which that is so: it named a tree or claimed the work
	files    text not null default ''    -- the commit by which home has handed them over, '' for none
);

-- A run is an agent that a conductor has started. Budgets count those of all nodes. Two nodes can have runs of one name, from before they shared the task.
create table if not exists run (
	machine bigint  not null references machine,
	task    text    not null,
	name    text    not null,
	n       bigint  generated always as identity, -- their order
	node    uuid    not null references node,
	session text    not null, -- which lives as long as its shim
	over    boolean not null,
	line    bytea   not null, -- its record
	primary key (machine, task, node, name)
);

-- The queue has the tasks that wait, and the names of those that were taken: a name is used once.
create table if not exists queue (
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
	added   timestamptz not null default now(), -- by which the queue is ordered, then by name
	primary key (project, name)
);

-- A trouble says for people why a node, by its session, does not work on a task: on that of a branch, or on one of the queue.
create table if not exists trouble (
	session text not null references session on delete cascade,
	name    text not null, -- of the branch, or of the task of the queue
	text    text not null,
	since   timestamptz not null default clock_timestamp(),
	primary key (session, name)
);

create table if not exists format (version int not null);

-- Format 2.
alter table head add column if not exists closed boolean not null default false;
update head set closed = true from machine m join project p on p.id = m.project
	where m.id = head.machine and not closed and (m.gone is not null or p.moved is not null);
alter table post
	add column if not exists home     uuid,
	add column if not exists host     text not null default '',
	add column if not exists home_seq bigint not null default 0,
	add column if not exists files    text not null default '',
	drop constraint if exists post_home_fkey;
update post set host = n.host from node n where n.id = post.home and post.host = '';

-- Format 3.
alter table run drop constraint if exists run_pkey, add primary key (machine, task, node, name);

-- Format 4.
alter table project
	add column if not exists moved_how  text not null default '',
	add column if not exists moved_node uuid,
	add column if not exists moved_host text not null default '',
	add column if not exists moved_root text not null default '';

-- Format 5. What waits already was added before everything else, in the order of the names.
alter table queue add column if not exists added timestamptz not null default now();
alter table node add column if not exists heard timestamptz;
