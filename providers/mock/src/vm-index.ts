import type { VmRecord } from "./vm-record.ts";

/** Finds VMs without a look at all of them: a cloud of n VMs is asked for each one. */
export interface VmIndex {
  /** Adds a record, or replaces that of the same VM. */
  put(record: VmRecord): void;
  delete(id: string): void;
  withToken(token: string): readonly VmRecord[];
  withProviderId(providerId: string): VmRecord | undefined;
  withName(name: string): readonly VmRecord[];
  /** The VMs that have all of these tags; all VMs for no tags. */
  withTags(tags: Readonly<Record<string, string>>): readonly VmRecord[];
  /** VMs that are not terminated. */
  readonly existing: number;
}

type Key = readonly ["token" | "providerId" | "name" | "tag", ...string[]];

const textOf = (key: Key): string => JSON.stringify(key);

const keysOf = ({ token, vm }: VmRecord): readonly string[] => [
  textOf(["token", token]),
  textOf(["providerId", vm.providerId]),
  textOf(["name", vm.name]),
  ...Object.entries(vm.tags).map(([key, value]) => textOf(["tag", key, value])),
];

/**
 * Creates an index.
 *
 * @param records the VMs by id, which this index keeps up to date
 */
export function createVmIndex(records: Map<string, VmRecord>): VmIndex {
  const ids = new Map<string, Set<string>>();
  let existing = 0;

  const remove = (record: VmRecord): void => {
    if (record.vm.state !== "terminated") existing--;
    for (const key of keysOf(record)) {
      const found = ids.get(key);
      found?.delete(record.vm.id);
      if (found?.size === 0) ids.delete(key);
    }
  };
  const add = (record: VmRecord): void => {
    if (record.vm.state !== "terminated") existing++;
    for (const key of keysOf(record)) {
      const found = ids.get(key);
      if (found === undefined) ids.set(key, new Set([record.vm.id]));
      else found.add(record.vm.id);
    }
  };
  const recordsOf = (found: Iterable<string>): readonly VmRecord[] => [...found].flatMap((id) => records.get(id) ?? []);
  const find = (key: Key): readonly VmRecord[] => recordsOf(ids.get(textOf(key)) ?? []);

  for (const record of records.values()) add(record);

  return {
    put(record) {
      const former = records.get(record.vm.id);
      records.set(record.vm.id, record);
      // Tags change seldom, states often.
      if (former !== undefined && former.vm.tags === record.vm.tags && former.vm.name === record.vm.name) {
        existing += Number(record.vm.state !== "terminated") - Number(former.vm.state !== "terminated");
        return;
      }
      if (former !== undefined) remove(former);
      add(record);
    },
    delete(id) {
      const former = records.get(id);
      if (former !== undefined) remove(former);
      records.delete(id);
    },
    withToken: (token) => find(["token", token]),
    withProviderId: (providerId) => find(["providerId", providerId])[0],
    withName: (name) => find(["name", name]),
    withTags(tags) {
      const wanted = Object.entries(tags);
      const sets = wanted.map(([key, value]) => ids.get(textOf(["tag", key, value])));
      if (sets.length === 0) return [...records.values()];
      const [smallest] = sets.toSorted((a, b) => (a?.size ?? 0) - (b?.size ?? 0));
      return recordsOf(smallest ?? []).filter(({ vm }) => wanted.every(([key, value]) => vm.tags[key] === value));
    },
    get existing() {
      return existing;
    },
  };
}
