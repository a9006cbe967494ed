import { type Clock, isConfigError } from "@millwright/base";
import type { CheckOutcome, Driver } from "@millwright/core";
import { createInFlightLimit } from "@millwright/core/driver-kit";
import { type Log, messageOf } from "@millwright/kube";
import { explainFailure } from "../describe/explain-failure.ts";
import { createClassSource, onceByName } from "../drivers/class-source.ts";
import { type CheckedApi, checkApi } from "./check-api.ts";
import { checkClass } from "./check-class.ts";
import { checkGroup } from "./check-group.ts";
import { checkControllers } from "./check-controllers.ts";
import { checkKinds } from "./check-kinds.ts";
import { checkNamespace } from "./check-namespace.ts";
import { checkPermissions } from "./check-permissions.ts";
import { type ClassesToCheck, listClasses } from "./classes-to-check.ts";

/** A cluster, or why its kubeconfig gives no access to one. */
export type ClusterAccess = { readonly api: CheckedApi } | { readonly problem: string };

/** What was checked of one subject. */
export interface DiagnosedSubject {
  /** For people: `Control cluster`, `MachineClass small`. */
  readonly subject: string;
  /** In the order in which people should read them. */
  readonly checks: readonly CheckOutcome[];
}

/** What is wrong with an installation. */
export interface Diagnosis {
  readonly namespace: string;
  /** `failed` when any check failed. */
  readonly outcome: "ok" | "failed";
  /** Clusters first, then classes by name, those that do not exist, and deployments and sets that wait for a user. */
  readonly subjects: readonly DiagnosedSubject[];
}

/** What {@link diagnose} works with. */
export interface DiagnoseOptions {
  readonly control: ClusterAccess;
  /** `none`: machines join no cluster. Absent: they join the control cluster. */
  readonly target?: ClusterAccess | "none";
  /** Of the machines. */
  readonly namespace: string;
  /** Names of classes; empty for all that the namespace has, and that its deployments need. `none`: only the clusters are checked. */
  readonly classes: readonly string[] | "none";
  /** Loads the driver of a class; called once for each spelling of a provider. A `ConfigError` is reported with the class. */
  readonly driverFor: (provider: string) => Promise<Driver>;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Classes that are checked at once. */
const maxConcurrentClasses = 4;

/** A subject that could not be checked because of an earlier failure. */
const failedSubject = (subject: string, name: string, message: string): DiagnosedSubject => ({
  subject,
  checks: [{ name, status: "failed", message }],
});

async function diagnoseCluster(
  subject: string,
  access: ClusterAccess,
  clusters: readonly ("control" | "target")[],
  { namespace, clock, signal }: DiagnoseOptions,
): Promise<DiagnosedSubject> {
  if ("problem" in access) return failedSubject(subject, "Kubeconfig", access.problem);
  const { isReachable, checks } = await checkApi(access.api, clock, signal);
  if (!isReachable) return { subject, checks };
  const isControl = clusters.includes("control");
  const [kinds, ofNamespace, controllers, permissions] = await Promise.all([
    isControl ? checkKinds(access.api, signal) : undefined,
    isControl ? checkNamespace(access.api, namespace, signal) : undefined,
    isControl ? checkControllers(access.api, namespace, clock, signal) : undefined,
    checkPermissions(access.api, clusters, namespace, signal),
  ]);
  const found = [kinds, ofNamespace, controllers].filter((check) => check !== undefined);
  return { subject, checks: [...checks, ...found, ...permissions] };
}

async function diagnoseClusters(options: DiagnoseOptions): Promise<readonly DiagnosedSubject[]> {
  const { control, target } = options;
  // The control cluster comes first: without it there are no classes to check.
  if (target === undefined)
    return [await diagnoseCluster("Control and target cluster", control, ["control", "target"], options)];
  return Promise.all([
    diagnoseCluster("Control cluster", control, ["control"], options),
    ...(target === "none" ? [] : [diagnoseCluster("Target cluster", target, ["target"], options)]),
  ]);
}

/** Classes that do not exist, by name, with what needs them. */
const missingClasses = (missing: ClassesToCheck["missing"], namespace: string): readonly DiagnosedSubject[] =>
  [...missing].map(([name, [user = "", ...others]]) => {
    const users = others.length === 0 ? `${user} needs it` : `${user} and ${others.length} more need it`;
    const message = `It does not exist in namespace ${namespace}, and ${users}.`;
    const remedy = "Create it, or name an existing MachineClass in the template.";
    return {
      subject: `MachineClass ${name}`,
      checks: [{ name: "MachineClass", status: "failed", message, remedy }],
    };
  });

async function diagnoseClasses(options: DiagnoseOptions): Promise<readonly DiagnosedSubject[]> {
  const { control, namespace, classes, clock, log, signal } = options;
  if (classes === "none" || "problem" in control) return [];
  const needs =
    "doctor needs to get and list machineclasses, to get their secrets, and to list machinedeployments and machinesets";
  try {
    const { existing, missing, groups, autoscaled }: ClassesToCheck =
      classes.length > 0
        ? { existing: [...new Set(classes)], missing: new Map(), groups: [], autoscaled: new Map() }
        : await listClasses(control.api, namespace, signal);
    const classNamed = createClassSource({ control: control.api, namespace, needs, signal });
    const driverFor = onceByName(options.driverFor);
    const limit = createInFlightLimit(maxConcurrentClasses);
    const checked = await Promise.all(
      existing.map((name) =>
        limit(signal, async () => {
          const subject = `MachineClass ${name}`;
          try {
            const classOptions = { classNamed, driverFor, clock, log, signal, autoscaled: autoscaled.get(name) };
            return { subject, checks: await checkClass(name, classOptions) };
          } catch (error) {
            signal.throwIfAborted();
            if (!isConfigError(error)) throw error;
            return failedSubject(subject, "MachineClass", error.message);
          }
        }),
      ),
    );
    const held = groups.map(({ kind, name, conditions }) => ({
      subject: `${kind} ${name}`,
      checks: checkGroup({ kind, name, namespace }, conditions),
    }));
    return [...checked, ...missingClasses(missing, namespace), ...held.filter(({ checks }) => checks.length > 0)];
  } catch (error) {
    signal.throwIfAborted();
    const explained = explainFailure(error, needs);
    if (!isConfigError(explained)) throw error;
    return [failedSubject(`MachineClasses of namespace ${namespace}`, "MachineClasses", messageOf(explained))];
  }
}

/**
 * Checks an installation without changing anything: clusters, permissions, and the classes of a namespace with their secrets against their clouds. Whatever fails is part of the answer and keeps
 * nothing else from being checked.
 *
 * @throws the reason of the signal when it aborts
 */
export async function diagnose(options: DiagnoseOptions): Promise<Diagnosis> {
  const clusters = await diagnoseClusters(options);
  const isUnreachable = clusters[0]?.checks[0]?.status === "failed";
  const subjects = [...clusters, ...(isUnreachable ? [] : await diagnoseClasses(options))];
  const hasFailed = subjects.some(({ checks }) => checks.some(({ status }) => status === "failed"));
  return { namespace: options.namespace, outcome: hasFailed ? "failed" : "ok", subjects };
}
