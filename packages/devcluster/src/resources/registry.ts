import type { ResourceDefinition } from "./resource-definition.ts";

/** The served resources: the built-in ones and those of CRDs. */
export interface Registry {
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  /** Any version of a group's kind. */
  findKind(group: string, kind: string): ResourceDefinition | undefined;
  /** All definitions, built-in ones first. */
  all(): readonly ResourceDefinition[];
  /** Replaces the definitions of a CRD; an empty list removes them. */
  setCustom(crdName: string, definitions: readonly ResourceDefinition[]): void;
  /** Changes with every {@link setCustom}, as a cache key for what is derived from the definitions. */
  readonly revision: number;
}

/** Creates a registry of the built-in kinds; those of CRDs are added with {@link Registry.setCustom}. */
export function createRegistry(builtInKinds: readonly ResourceDefinition[]): Registry {
  const custom = new Map<string, readonly ResourceDefinition[]>();
  let byPath = new Map<string, ResourceDefinition>();
  let all: readonly ResourceDefinition[] = [];
  let revision = 0;

  const rebuild = (): void => {
    all = [...builtInKinds, ...[...custom.values()].flat()];
    byPath = new Map(
      all.map((definition) => [pathOf(definition.group, definition.version, definition.plural), definition]),
    );
    revision += 1;
  };
  rebuild();

  return {
    find: (group, version, plural) => byPath.get(pathOf(group, version, plural)),
    findKind: (group, kind) => all.find((definition) => definition.group === group && definition.kind === kind),
    all: () => all,
    setCustom(crdName, definitions) {
      if (definitions.length === 0) custom.delete(crdName);
      else custom.set(crdName, definitions);
      rebuild();
    },
    get revision() {
      return revision;
    },
  };
}

function pathOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`;
}
