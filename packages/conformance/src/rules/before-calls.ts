import type { ContractRule } from "./rule.ts";

/** Rules about a driver before it is called: its declaration, its schemas. */
export const rulesBeforeCalls = [
  {
    id: "driver.handshake",
    title: "declares name and contract version",
    mandatory: true,
    level: "bronze",
    text: "The driver is accepted by `defineDriver`: a name of 1 to 63 letters, digits, dots or dashes, and a contract version or range that the host supports. A host rejects any other version in one line that names the side to update.",
  },
  {
    id: "driver.capabilities-match",
    title: "has exactly the methods of its capabilities",
    mandatory: true,
    level: "bronze",
    text: "A declared capability has its method. A method of an undeclared capability is absent, or fails with `Unimplemented` and changes nothing. Without `volumeIds`, `getVolumeIds` returns `undefined` for every volume.",
  },
  {
    id: "driver.idle-makes-no-calls",
    title: "opens no connection before its first call",
    mandatory: true,
    level: "bronze",
    text: "Loading a driver and validating a class need neither credentials nor network. Controllers start while a cloud is unreachable.",
  },
  {
    id: "driver.newer-host",
    title: "accepts requests of newer and older hosts",
    mandatory: false,
    level: "silver",
    text: "Unknown fields of requests are ignored. Optional fields may be absent: labels, annotations, `remainingMs`, `reportApiCall`, `recordExchange`.",
  },
  {
    id: "spec.required-fields",
    title: "names each missing field",
    mandatory: true,
    level: "bronze",
    text: "A class without a required field is rejected, and a problem has the path of the field or of what contains it. An empty class is valid only if no field is required.",
  },
  {
    id: "spec.hostile-values",
    title: "rejects wrong types without a crash",
    mandatory: true,
    level: "bronze",
    text: "A required field of another type is rejected. Negative numbers, empty and very long texts, and deep nesting give problems of bounded size or a valid spec, never an exception.",
  },
  {
    id: "spec.prototype-keys",
    title: "ignores keys that reach prototypes",
    mandatory: true,
    level: "bronze",
    text: "The keys `__proto__`, `constructor` and `prototype` are rejected or without effect at any depth. Global prototypes stay unchanged.",
  },
  {
    id: "spec.pure",
    title: "validates without side effects",
    mandatory: true,
    level: "bronze",
    text: "Validation returns the same result for the same class, changes nothing in its input, and opens no connection.",
  },
  {
    id: "spec.unknown-fields",
    title: "rejects or ignores unknown fields",
    mandatory: true,
    level: "bronze",
    text: "A field that the driver does not know is either rejected by name, or ignored: the spec is the same as without it.",
  },
  {
    id: "secret.extra-keys",
    title: "accepts other keys in the secret",
    mandatory: true,
    level: "bronze",
    text: "The class secret also has keys of other readers, such as `userData`. The schema of the secret accepts them.",
  },
  {
    id: "secret.invalid",
    title: "rejects invalid credentials without repeating them",
    mandatory: false,
    level: "silver",
    trait: "credentials",
    text: "A missing, empty or malformed key is a problem of the schema, or the call fails with `InvalidArgument` or `Unauthenticated`. No message contains a value.",
  },
] as const satisfies readonly ContractRule[];
