-- What a journal holds: headers, queries and answers.
create schema if not exists pace;

create table pace.migrations (
    version integer primary key,
    applied timestamptz not null default now()
);

create table pace.studies (
    study bigint generated always as identity primary key,
    name text not null unique,
    header text not null,
    about text,
    begun timestamptz not null default now()
);
comment on column pace.studies.header is 'JSON, the first line of a journal: which search it is';
comment on column pace.studies.about is 'JSON for those who answer';

create table pace.queries (
    study bigint not null references pace.studies on delete cascade,
    id bigint not null check (id >= 0),
    round bigint not null,
    origin text not null,
    graph text not null,
    place bigint,
    vector double precision[],
    token text not null,
    asked timestamptz not null default now(),
    primary key (study, id)
);
comment on column pace.queries.id is 'counted from 0 in each study';
comment on column pace.queries.graph is 'operations, colon, edges: 0 2 1 : 0>1 1>2';
comment on column pace.queries.token is 'of the call that asked the round, which may repeat it';

-- The key lets the first answer hold.
create table pace.answers (
    study bigint not null,
    id bigint not null,
    score double precision,
    failed text,
    answered timestamptz not null default now(),
    primary key (study, id),
    foreign key (study, id) references pace.queries on delete cascade,
    check ((score is null) <> (failed is null))
);
comment on column pace.answers.score is 'higher is better; NaN counts as a failure';
comment on column pace.answers.failed is 'why there is no score';
