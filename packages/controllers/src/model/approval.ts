/** What an approval is for: deletions that a set decides, creations of machines whose VMs may exist, or deletions that other clients requested. */
export type ApprovedWork = "deletions" | "creations" | "requests";

/** An approval of what was held, and of nothing that comes later. */
export interface BoundApproval {
  readonly work: ApprovedWork;
  /** At most so many machines; of deletions and creations: since the generation began, so that the same value approves nothing twice. */
  readonly count: number;
  /** The first characters of the UID of its object: a copy of the object is not approved. */
  readonly uid: string;
  /** The generation of the spec that the deletions follow from. Of requests: that of an object that is deleted with its machines. */
  readonly generation?: number;
  /** Of requests: those until this time, RFC 3339. */
  readonly before?: string;
  /** When it ends in any case, RFC 3339. */
  readonly until?: string;
  /** So many machines may be missing or in deletion at the same time. Absent: all. */
  readonly atATime?: number;
}

/** The part of a UID that a copy of the object does not have. */
export const shortUid = ({ uid = "" }: { readonly uid?: string | undefined }): string => uid.slice(0, 8);

/** RFC 3339 with a zone: `Date.parse` alone accepts much more. */
const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** A time in milliseconds; `undefined` for anything else. */
export function readTime(text: string): number | undefined {
  const time = rfc3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

const isTime = (text: string): boolean => readTime(text) !== undefined;
const isCount = (text: string): boolean => /^[1-9]\d{0,6}$/.test(text);

/** The value of the annotation: `deletions=15,generation=7,uid=0a1b2c3d`. */
export function formatApproval({ work, count, generation, uid, before, until, atATime }: BoundApproval): string {
  const fields = { [work]: count, generation, before, until, "at-a-time": atATime, uid };
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${value}`)
    .join(",");
}

const readers: Readonly<Record<string, (text: string) => boolean>> = {
  deletions: isCount,
  creations: isCount,
  requests: isCount,
  generation: isCount,
  before: isTime,
  until: isTime,
  "at-a-time": isCount,
  uid: (text) => /^[\w-]{1,36}$/.test(text),
};

/** The fields of a value, each once and valid; `undefined` for anything else. */
function fieldsOf(value: string): ReadonlyMap<string, string> | undefined {
  const fields = new Map<string, string>();
  for (const part of value.split(",")) {
    const [key = "", text = ""] = part.split("=", 2);
    if (fields.has(key) || readers[key]?.(text) !== true || part !== `${key}=${text}`) return undefined;
    fields.set(key, text);
  }
  return fields;
}

const works = ["deletions", "creations", "requests"] as const;

/** Reads what {@link formatApproval} writes; `undefined` for anything else. */
export function parseApproval(value: string): BoundApproval | undefined {
  const fields = fieldsOf(value);
  const named = works.filter((work) => fields?.has(work));
  const [work] = named;
  const uid = fields?.get("uid");
  if (fields === undefined || work === undefined || named.length > 1 || uid === undefined) return undefined;
  const generation = fields.get("generation");
  const before = fields.get("before");
  const until = fields.get("until");
  const atATime = fields.get("at-a-time");
  // Without them, it would not end with what was held.
  if (work === "requests" ? generation !== undefined && before !== undefined : generation === undefined)
    return undefined;
  return {
    work,
    count: Number(fields.get(work)),
    uid,
    ...(generation === undefined ? {} : { generation: Number(generation) }),
    ...(before === undefined ? {} : { before }),
    ...(until === undefined ? {} : { until }),
    ...(atATime === undefined ? {} : { atATime: Number(atATime) }),
  };
}

/** The approval that a message of a hold shows; `undefined` where it shows none, as those of older versions. */
export function approvalIn(message: string): BoundApproval | undefined {
  const [value] = /\b(deletions|creations|requests)=\d[\w,=:.+-]*/.exec(message) ?? [];
  return value === undefined ? undefined : parseApproval(value.replace(/\.$/, ""));
}
