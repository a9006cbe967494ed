import { EventEmitter } from "node:events";
import type { SecretData } from "@millwright/base";
import { type CreateMachineRequest, defineDriver, type DriverContext, MachineError } from "@millwright/core";

/** A text that shows a value in the ways in which clouds and SDKs print, escape and cut what they were sent. */
const leakOf = (value: string): string =>
  [
    value,
    JSON.stringify({ value: JSON.stringify({ value }) }),
    new URLSearchParams({ value }),
    encodeURIComponent(value),
    encodeURIComponent(encodeURIComponent(value)),
    encodeURIComponent(new URLSearchParams({ value }).toString()),
    Buffer.from(value).toString("base64"),
    Buffer.from(`before ${value} after`).toString("base64url"),
    Buffer.from(value).toString("hex"),
    `${value.slice(0, 24)}...`,
    `...${value.slice(-24)}`,
    `${Buffer.from(value).toString("base64").slice(0, 24)}…`,
  ].join(" | ");

const valuesOf = (secret: SecretData): readonly string[] => Object.values(secret).map((value) => value.reveal());

/** All secrets that a request has, and characters that change what a terminal shows. */
const leaksOf = (secret: SecretData, userData = ""): string =>
  `\u001b[31m\u202e${[...valuesOf(secret), userData].map(leakOf).join("\n")}`;

/** The same, short enough for a state, which is left out otherwise. */
const stateOf = (secret: SecretData): string => `\u001b[31m\u202e${valuesOf(secret).join(" ")}`;

const emitter = new EventEmitter();
const vms = new Set<string>();
const attempts = new Map<string, number>();

/** Errors that nothing handles, one of each kind. */
function failLater(text: string): void {
  void Promise.reject(new Error(`floating ${text}`, { cause: new Error(text) }));
  setTimeout(() => {
    throw new AggregateError([new Error(text)], `timer ${text}`);
  }, 10);
  setTimeout(() => emitter.emit("error", new Error(`emitter ${text}`)), 20);
}

/** Waits until the call is aborted, and throws in a listener then. */
const untilAborted = (text: string, signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reject(signal.reason);
      throw new Error(`listener ${text}`);
    });
  });

function logAll(values: readonly string[], text: string, context: DriverContext): void {
  const query = new URLSearchParams(values.map((value): [string, string] => ["value", value])).toString();
  const error = new AggregateError([new Error(text)], text, { cause: new Error(text, { cause: { text } }) });
  context.log("info", `creating ${text}`, {
    text,
    [text]: text,
    nested: { list: [{ text }] },
    error,
    map: new Map([["text", text]]),
  });
  context.log("error", "bytes", {
    bytes: Buffer.from(text),
    url: new URL(`https://x/?${query}`),
  });
  context.reportApiCall?.({ service: text, outcome: text, seconds: 1 });
  context.recordExchange?.({
    method: "POST",
    url: `https://cloud/?${query}`,
    requestHeaders: { authorization: text },
    requestBody: JSON.stringify({ values }),
    status: 400,
    responseHeaders: { location: `https://cloud/?${query}` },
    responseBody: text,
    seconds: 1,
  });
}

/** Fails, is pending, and succeeds, and reports everything that it knows each time. */
async function createMachine({ machine, secret, userData }: CreateMachineRequest<unknown>, context: DriverContext) {
  const text = leaksOf(secret, userData.reveal());
  logAll([...valuesOf(secret), userData.reveal()], text, context);
  if (machine.name.startsWith("hanging")) return untilAborted(text, context.signal);
  const attempt = (attempts.get(machine.name) ?? 0) + 1;
  attempts.set(machine.name, attempt);
  if (attempt === 1) {
    failLater(text);
    throw new MachineError("Unavailable", text, { lastKnownState: text, cause: new Error(text), retryAfterMs: 100 });
  }
  if (attempt === 2) throw new Error(text, { cause: new Error(text) });
  if (attempt === 3) return { pending: { message: text, checkAfterMs: 100 } };
  vms.add(machine.name);
  return { providerId: `leaky:///${machine.name}`, nodeName: machine.name, lastKnownState: stateOf(secret) };
}

/** A driver that prints secrets wherever it can, and fails outside of its calls. */
export default defineDriver<unknown>({
  name: "leaky",
  spec: { "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) } },
  createMachine,
  async getMachineStatus({ machine, secret }) {
    if (!vms.has(machine.name))
      throw new MachineError("NotFound", leaksOf(secret), { lastKnownState: leaksOf(secret) });
    return { providerId: `leaky:///${machine.name}`, nodeName: machine.name, lastKnownState: stateOf(secret) };
  },
  async deleteMachine({ machine, secret }) {
    vms.delete(machine.name);
    return { lastKnownState: stateOf(secret) };
  },
  async findDrift({ machine, secret }) {
    const text = leaksOf(secret).slice(0, 4000);
    return { providerId: `leaky:///${machine.name}`, differences: [{ field: "user data", wanted: text, found: text }] };
  },
  async checkClass({ secret }) {
    failLater(leaksOf(secret));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const text = leaksOf(secret).slice(0, 4000);
    return { checks: [{ name: "leak", status: "failed", message: text, remedy: text }] };
  },
});

// While the driver is loaded, and after that.
setTimeout(() => {
  throw new Error("after loading");
}, 1_000);
