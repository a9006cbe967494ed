import type { Machine, MachineClass } from "@millwright/core/machine-api";
import { readIntent } from "./creation-intent.ts";

const isName = (name: string | undefined): name is string => name !== undefined && name !== "";

/**
 * Names of the classes that a machine needs: the one in its spec, and the one that its VM was created with. They differ when a user
 * changes the spec, and the VM can only be deleted with the latter.
 */
export const classNamesOf = (machine: Machine): readonly string[] => [
  ...new Set([machine.spec.class?.name, readIntent(machine)?.class].filter(isName)),
];

/** Names of the secrets that a class refers to: `secretRef`, then `credentialsSecretRef`, whose keys win. Only those of its own namespace are read. */
export const secretNamesOf = ({ metadata, secretRef, credentialsSecretRef }: MachineClass): readonly string[] =>
  [secretRef, credentialsSecretRef]
    .filter((reference) => !isName(reference?.namespace) || reference.namespace === metadata.namespace)
    .map((reference) => reference?.name)
    .filter(isName);
