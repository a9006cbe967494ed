/** Any JSON value that a script sends or reads. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json | undefined };

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

/** Returns the response body of an earlier step of the same subject. */
export type Seen = (step: string) => JsonObject;

/** A value, or a function that computes it from earlier responses. */
export type FromSeen<T> = T | ((seen: Seen) => T);

/** What a watch step waits for. */
export interface WatchStep {
  /** Requests sent, in order, once the server has answered the watch. */
  readonly during: readonly Step[];
  /** How many events are read before the watch is closed; without it, all until the server ends it. */
  readonly events: number | undefined;
}

/** One request of a script. `{ns}` in its path and body stands for the namespace of its subject. */
export interface Step {
  /** Unique in its subject; describes the request. */
  readonly name: string;
  readonly method: string;
  readonly path: FromSeen<string>;
  /** Sent as JSON; a string is sent as it is. */
  readonly body: FromSeen<Json> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly watch: WatchStep | undefined;
  /** The request is repeated until its response satisfies this: for asynchronous work of controllers. */
  readonly until: ((status: number, body: JsonObject) => boolean) | undefined;
}

/** A list of requests about one topic, run in order and in a separate namespace. */
export interface Subject {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Only named list items that both servers have are compared. */
  readonly sharedOnly?: boolean;
}

/** Declares a subject. Throws when two steps have one name. */
export function subject(
  name: string,
  steps: readonly Step[],
  options: { readonly sharedOnly?: boolean } = {},
): Subject {
  const names = new Set<string>();
  for (const step of allSteps(steps)) {
    if (names.has(step.name)) throw new Error(`subject ${name}: two steps are called "${step.name}"`);
    names.add(step.name);
  }
  return { name, steps, ...options };
}

/** Steps, including those inside watches. */
export function allSteps(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) => [step, ...allSteps(step.watch?.during ?? [])]);
}

type Headers = Readonly<Record<string, string>>;

/** Declares one request. */
export function step(
  name: string,
  method: string,
  path: FromSeen<string>,
  body?: FromSeen<Json>,
  headers: Headers = {},
): Step {
  return { name, method, path, body, headers, watch: undefined, until: undefined };
}

export const get = (name: string, path: FromSeen<string>, headers?: Headers): Step =>
  step(name, "GET", path, undefined, headers);

export const post = (name: string, path: FromSeen<string>, body: FromSeen<Json>, headers?: Headers): Step =>
  step(name, "POST", path, body, { "content-type": "application/json", ...headers });

export const put = (name: string, path: FromSeen<string>, body: FromSeen<Json>, headers?: Headers): Step =>
  step(name, "PUT", path, body, { "content-type": "application/json", ...headers });

export const del = (name: string, path: FromSeen<string>, body?: FromSeen<Json>): Step =>
  step(name, "DELETE", path, body, body === undefined ? {} : { "content-type": "application/json" });

const patchStep =
  (contentType: string) =>
  (name: string, path: FromSeen<string>, body: FromSeen<Json>): Step =>
    step(name, "PATCH", path, body, { "content-type": contentType });

export const mergePatch = patchStep("application/merge-patch+json");
export const jsonPatch = patchStep("application/json-patch+json");
export const strategicPatch = patchStep("application/strategic-merge-patch+json");
export const apply = patchStep("application/apply-patch+yaml");

/** Watches until the server ends the watch, so the path should carry `timeoutSeconds`. */
export const watch = (name: string, path: FromSeen<string>, headers: Headers = {}): Step => ({
  ...step(name, "GET", path, undefined, headers),
  watch: { during: [], events: undefined },
});

/** Watches while other requests are sent, and reads `events` events. */
export const watchDuring = (name: string, path: FromSeen<string>, events: number, during: readonly Step[]): Step => ({
  ...step(name, "GET", path),
  watch: { during, events },
});

/** Reads repeatedly until the response is as expected. */
export const getUntil = (
  name: string,
  path: FromSeen<string>,
  until: (status: number, body: JsonObject) => boolean,
): Step => ({ ...get(name, path), until });

/** The `metadata.resourceVersion` of an object or list. */
export function versionOf(object: JsonObject): string {
  const { metadata } = object;
  const version = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
  if (typeof version !== "string") throw new Error(`metadata.resourceVersion is missing in ${JSON.stringify(object)}`);
  return version;
}

/** The `metadata.uid` of an object. */
export function uidOf(object: JsonObject): string {
  const { metadata } = object;
  const uid = isJsonObject(metadata) ? metadata["uid"] : undefined;
  if (typeof uid !== "string") throw new Error(`metadata.uid is missing in ${JSON.stringify(object)}`);
  return uid;
}

/** True for JSON objects: not null, not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
