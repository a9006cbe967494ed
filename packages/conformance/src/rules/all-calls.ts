import type { ContractRule, ExcludedSubject } from "./rule.ts";

/** Rules that hold for every call, and for the run as a whole. */
export const rulesOfAllCalls = [
  {
    id: "calls.cancellation",
    title: "ends within two seconds of an abort",
    mandatory: true,
    level: "bronze",
    text: "When the signal of a call is aborted, the call ends within two seconds. It is safe to repeat it.",
  },
  {
    id: "calls.deadline",
    title: "ends at its deadline",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "A call whose cloud does not answer ends within two seconds of its deadline: with `DeadlineExceeded`, `Unavailable` or `Aborted`, or pending.",
  },
  {
    id: "calls.settle-once",
    title: "settles each call exactly once",
    mandatory: true,
    level: "bronze",
    text: "Each method returns a promise that settles once. A thenable that calls back twice would report two outcomes of one VM.",
  },
  {
    id: "calls.no-stray-errors",
    title: "leaves no error outside of its calls",
    mandatory: true,
    level: "bronze",
    text: "The driver waits for every promise, and handles errors of timers and event emitters. The host can only log those that escape.",
  },
  {
    id: "calls.replies-are-valid",
    title: "returns what the contract declares",
    mandatory: true,
    level: "bronze",
    text: "Responses have the fields of their type: provider ids and node names are never empty; `pending` has a message and a time.",
  },
  {
    id: "errors.are-machine-errors",
    title: "fails with MachineError",
    mandatory: true,
    level: "bronze",
    text: "Every error is a `MachineError` with a known code other than `OK`, a message of 1 byte to 4 KiB, and `retryAfterMs` that is absent or not negative.",
  },
  {
    id: "errors.message-is-stable",
    title: "repeats the same message for the same failure",
    mandatory: false,
    level: "silver",
    text: "Two equal failures have equal messages. Request ids and times in a message would cause a status write with each attempt.",
  },
  {
    id: "errors.status-codes",
    title: "maps HTTP errors to codes",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "401 and 403 are `Unauthenticated` or `PermissionDenied`; 429 is `Unavailable` or `ResourceExhausted`; 5xx is `Unavailable`, `DeadlineExceeded` or `Unknown`. No such response is a success, and none but the cloud's own is `NotFound`.",
  },
  {
    id: "errors.retry-after",
    title: "passes on the delay that the cloud requests",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "A throttled call fails with `retryAfterMs` of at least the requested delay, or succeeds after it. It does not retry beyond its deadline.",
  },
  {
    id: "errors.unreachable-cloud",
    title: "reports an unreachable cloud as Unavailable",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "Refused connections, unknown hosts and failed TLS handshakes are `Unavailable` or `DeadlineExceeded`. Never `NotFound`, never an empty list.",
  },
  {
    id: "errors.unreadable-answers",
    title: "reports unreadable answers as Unavailable",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "Truncated answers and HTML pages of proxies are `Unavailable`, `Unknown` or `DeadlineExceeded`. Never `NotFound`, never a success.",
  },
  {
    id: "errors.large-answer",
    title: "reads answers of bounded size",
    mandatory: false,
    level: "gold",
    trait: "endpoint",
    text: "An answer of 100 MiB fails the call, and the process does not keep it.",
  },
  {
    id: "errors.slow-answer",
    title: "ends calls whose answer never ends",
    mandatory: false,
    level: "gold",
    trait: "endpoint",
    text: "An answer that arrives byte by byte does not outlive the deadline of the call.",
  },
  {
    id: "secrets.never-printed",
    title: "never prints secret values",
    mandatory: true,
    level: "bronze",
    text: "Values of the class secret and user data are never in messages, states, ids, tags, log lines of any level, metrics, or output of the process.",
  },
  {
    id: "secrets.rotation",
    title: "uses new credentials at once",
    mandatory: true,
    level: "bronze",
    trait: "credentials",
    text: "The next call uses the secret of its request. Nothing that was authenticated with another secret is used again.",
  },
  {
    id: "secrets.not-mixed",
    title: "keeps concurrent credentials apart",
    mandatory: true,
    level: "bronze",
    trait: "credentials",
    text: "Concurrent calls with different secrets use their own: calls with invalid credentials fail, and others succeed.",
  },
  {
    id: "secrets.expired-token",
    title: "recovers from rejected tokens",
    mandatory: true,
    level: "bronze",
    trait: "endpoint",
    text: "A rejection is not remembered: once the cloud accepts the credentials again, calls succeed. If a token has expired or was revoked, the second call at the latest has a new one.",
  },
  {
    id: "network.declared-hosts-only",
    title: "connects to declared hosts only",
    mandatory: true,
    level: "bronze",
    text: "The driver connects to its endpoints only. Link-local addresses, such as the metadata service of the VM that it runs on, are refused unless declared.",
  },
  {
    id: "load.no-leaks",
    title: "leaks neither memory nor handles",
    mandatory: true,
    level: "gold",
    text: "1,000 sequential and 200 parallel calls let memory grow by less than a tenth, once bounded caches are full, and leave no open handles.",
  },
  {
    id: "load.random-faults",
    title: "keeps one VM for each machine whatever fails",
    mandatory: true,
    level: "gold",
    trait: "endpoint",
    text: "Requests fail, responses are lost, calls are aborted and instances replaced, all at random: repeated calls lead to one VM for each machine, no VM is reported as missing, and deletions leave nothing.",
  },
  {
    id: "run.nothing-left",
    title: "leaves nothing in the cloud",
    mandatory: true,
    level: "bronze",
    text: "At the end of the run, the cloud has nothing that the run created.",
  },
] as const satisfies readonly ContractRule[];

/** Subjects of other driver contracts that have no rule here. */
export const excludedSubjects: readonly ExcludedSubject[] = [
  {
    subject: "Health probe",
    reason: "There is no such method. Loading a driver needs no network (`driver.idle-makes-no-calls`).",
  },
  {
    subject: "JSON Schema of the class",
    reason:
      "`spec` is a Standard Schema: it validates, and need not be printable. A driver may publish its JSON Schema elsewhere.",
  },
  {
    subject: "Repeated defaults",
    reason: "The output of `spec` may have another form than its input, so it is never validated again.",
  },
  {
    subject: "Creation of a machine that was deleted",
    reason:
      "Drivers keep no record of deleted machines. The controller never creates a VM for a machine with a `deletionTimestamp`.",
  },
  {
    subject: "Operation ids",
    reason: "A pending call is repeated with the same token: `pending.survives-restart`.",
  },
  { subject: "Batch creation", reason: "There is no such method. `createBatch` of the driver kit combines requests." },
  {
    subject: "States of VMs",
    reason: "A VM is found or not found; its node reports the rest. `lastKnownState` is a text of the driver.",
  },
  {
    subject: "Stale reads",
    reason:
      "A driver waits until a VM that it has requested is visible, or answers `vm: missing` after a deletion. There is no marker on other answers.",
  },
  { subject: "Stop, start and reboot", reason: "There are no such methods." },
  { subject: "Completeness marker of lists", reason: "A list is complete or fails: `list.fails-as-a-whole`." },
  {
    subject: "Clock skew",
    reason: "It cannot be staged without changing the clock of the process. Clouds report it as failed authentication.",
  },
  {
    subject: "Files and users of the process",
    reason:
      "A driver in the process of the host has its permissions. Drivers in other processes are limited by their container.",
  },
  {
    subject: "Blocked event loop",
    reason: "It is measured in wall time, which depends on the load of the computer.",
  },
];
