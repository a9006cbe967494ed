/**
 * The keys of log lines, and what each holds: the whole list, so that a search in logs can name them. docs/operations/logs.md has it as a table.
 *
 * What a driver logs by itself has keys of its own; those are under `fields`.
 */
export const logKeys = {
  time: "When, RFC 3339 with milliseconds, UTC",
  level: "`debug`, `info`, `warn` or `error`",
  msg: "What happened, the same text each time; the last key of a line. A line about an Event has its reason",
  kind: "Kind of the object that the line is about",
  namespace: "Its namespace; in lines about the process the namespace of the machines",
  name: "Its name",
  uid: "Its UID",
  machine: "Name of the Machine that a call of a driver is for",
  machineClass: "Name of the MachineClass",
  node: "Name of the Node",
  vm: "Provider id of the VM",
  zone: "Zone of a suspected outage; absent for all zones",
  driver: "Name of the driver",
  drivers: "Names of the drivers in use",
  provider: "What `--provider` named",
  place: "Where a driver runs: in this process, a process of its own, or an address",
  method: "Method of the driver",
  code: "Error code of the driver",
  secret: "Name of the Secret with the credential; never what is in it",
  fields: "What a driver logged with its line, as an object",
  stream: "`stdout` or `stderr`, of a driver that runs in a process of its own",
  line: "A line that this process printed",
  call: "The call of a driver that does not end",
  controller: "Name of the controller",
  controllers: "Names of the controllers that the process runs",
  running: "Longest reconciles and calls of drivers that run now",
  lastCall: "The last call of a driver that began",
  subject: "What the line is about where it is no object: a driver process, a part of the process",
  because: "Why, as a sentence",
  error:
    "Message of the error, or an object with `name`, `message`, `code`, `cause`; `stack` for errors of Millwright, and with `--log-level=debug` for those of drivers",
  failures: "Failed attempts in a row",
  durationMs: "How long it took or lasted, milliseconds",
  delayMs: "When it is tried again, milliseconds from now",
  timeoutMs: "The limit that was exceeded, milliseconds",
  check: "What the process waits for at its start",
  count: "How many, of what `msg` names",
  leftOut: "Equal lines that were not logged since the last one",
  remedy: "What to do about it",
  cluster: "`control` or `target`",
  server: "URL of the API server",
  resource: "Resource of the API, as `resource.group/version`",
  kinds: "Kinds whose first list is missing",
  found: "What the API server returned instead",
  path: "Path of a request",
  index: "Index of a cache",
  right: "Permission that is missing",
  lease: "Name of the Lease",
  leases: "Names of the Leases that have to be held",
  identity: "This candidate in the leader election",
  holder: "The candidate that holds the Lease",
  aheadSeconds: "How far the clock of the API server is ahead; negative: behind",
  unknown: "Machines in phase Unknown",
  joined: "Machines that had joined",
  flag: "A flag of the command line",
  changes: "What a reload of the configuration changed, as `flag: from -> to`",
  maxDeletionShare: "Share of the machines that may be deleted within an hour without approval",
  address: "Where the process listens",
  version: "Version of the driver",
  file: "Name of a file",
  action: "What a part of the devcluster was about to do",
} as const satisfies Readonly<Record<string, string>>;

/** A key of {@link logKeys}. */
export type LogKey = keyof typeof logKeys;

/** What varies in a log line. The compiler rejects other keys. */
export type LogFields = { readonly [Key in Exclude<LogKey, "time" | "level" | "msg">]?: unknown };
