-- Who evaluates what. A row is made when a query is first looked at, and removed with its answer; one without a worker, or whose
-- time is over, is free.
create table pace.claims (
    study bigint not null,
    id bigint not null,
    worker text,
    token text,
    until timestamptz,
    primary key (study, id),
    foreign key (study, id) references pace.queries on delete cascade
);
comment on column pace.claims.token is 'of the call that claimed, which may repeat it';
