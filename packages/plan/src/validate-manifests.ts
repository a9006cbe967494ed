import { type Driver, readProviderSpec } from "@millwright/core";
import {
  type FieldProblem,
  type MachineKind,
  machineKinds,
  readMachine,
  readMachineClass,
  readMachineDeployment,
  readMachineSet,
  validateMachine,
  validateMachineClass,
  validateMachineDeployment,
  validateMachineSet,
} from "@millwright/core/machine-api";
import { unknownKeysOf } from "@millwright/core/driver-kit";
import { type ApiObject, apiVersionOf, messageOf } from "@millwright/kube";
import { rejectionsOf } from "./changes/manifest-problems.ts";
import { asCreated, type Location, type ManifestObject } from "./state/cluster-state.ts";

/** A problem of an object in a manifest. */
export interface ManifestProblem {
  /** File and number of the document. */
  readonly source: string;
  readonly location?: Location;
  readonly kind: MachineKind;
  readonly name: string;
  readonly path: string;
  readonly message: string;
  /** `warning`: a driver ignores the key. */
  readonly severity: "error" | "warning";
}

/** What was found in manifests. */
export interface Validation {
  readonly problems: readonly ManifestProblem[];
  /** Number of objects of machine kinds. */
  readonly checked: number;
  /** Number of objects of other kinds. */
  readonly skipped: number;
}

type Found = FieldProblem & { readonly isWarning?: boolean };

/** The problems of `providerSpec` that its driver finds without its cloud. */
async function specProblemsOf(
  { provider, providerSpec }: { readonly provider?: string; readonly providerSpec?: unknown },
  driverFor: (provider: string) => Promise<Driver>,
): Promise<readonly Found[]> {
  let driver: Driver;
  try {
    driver = await driverFor(provider ?? "");
  } catch (error) {
    return [{ path: "provider", message: messageOf(error), kind: "invalid" }];
  }
  const read = await readProviderSpec(driver, { providerSpec });
  const unknown = unknownKeysOf(driver, providerSpec).map(({ path, nearest }): Found => {
    const remedy = nearest === undefined ? "remove it" : `did you mean "${nearest}"?`;
    return {
      path,
      message: `is not a field of driver "${driver.name}", which ignores it: ${remedy}`,
      kind: "forbidden",
      isWarning: true,
    };
  });
  return [...(read.ok ? [] : read.problems), ...unknown];
}

/** The problems of an object, with those of the spec that its controller would report. */
async function problemsOf(
  kind: MachineKind,
  object: ApiObject,
  driverFor: (provider: string) => Promise<Driver>,
): Promise<readonly Found[]> {
  const { name = "" } = object.metadata;
  const created = { ...object, metadata: { ...asCreated(kind, name), namespace: "default", ...object.metadata } };
  switch (kind) {
    case "Machine": {
      const read = readMachine(created);
      return [...rejectionsOf(kind, object, read), ...(read.ok ? validateMachine(read.value) : [])];
    }
    case "MachineSet": {
      const read = readMachineSet(created);
      return [...rejectionsOf(kind, object, read), ...(read.ok ? validateMachineSet(read.value) : [])];
    }
    case "MachineDeployment": {
      const read = readMachineDeployment(created);
      return [...rejectionsOf(kind, object, read), ...(read.ok ? validateMachineDeployment(read.value) : [])];
    }
    case "MachineClass": {
      const read = readMachineClass(created);
      const rejections = rejectionsOf(kind, object, read);
      if (!read.ok) return rejections;
      const { provider = "" } = read.value;
      const spec = provider === "" ? [] : await specProblemsOf({ ...read.value, provider }, driverFor);
      return [...rejections, ...validateMachineClass(read.value), ...spec];
    }
  }
}

const isMachineKind = (kind: string): kind is MachineKind => Object.hasOwn(machineKinds, kind);

/** The kind of a machine object; undefined for objects of other APIs, which may have a kind of the same name. */
const machineKindOf = ({ apiVersion, kind = "" }: ApiObject): MachineKind | undefined =>
  isMachineKind(kind) && apiVersion === apiVersionOf(machineKinds[kind]) ? kind : undefined;

/**
 * Finds what is wrong with manifests without a cluster and without a cloud: fields that their kinds do not have, what the API server or a controller would reject, and `providerSpec` of classes by the
 * schemas of their drivers.
 *
 * @param driverFor finds the driver of a provider, or fails with what helps
 */
export async function validateManifests(
  manifests: readonly ManifestObject[],
  driverFor: (provider: string) => Promise<Driver>,
): Promise<Validation> {
  const problems: ManifestProblem[] = [];
  let checked = 0;
  for (const { source, object, locate } of manifests) {
    const kind = machineKindOf(object);
    if (kind === undefined) continue;
    checked++;
    const { name = "" } = object.metadata;
    for (const { path, message, isWarning = false } of await problemsOf(kind, object, driverFor)) {
      const location = locate?.(path);
      const severity = isWarning ? "warning" : "error";
      problems.push({ source, ...(location === undefined ? {} : { location }), kind, name, path, message, severity });
    }
  }
  return { problems, checked, skipped: manifests.length - checked };
}
