import { type MachineClass, machineEventReasons } from "@millwright/core/machine-api";
import type { ClassStatus } from "./annotation-notes.ts";
import type { Remedy } from "./explanation.ts";

/** Names of the Secrets of a class, the one with the credentials first; none of a class that does not exist. */
export const secretsOf = (machineClass: MachineClass | undefined): readonly string[] => [
  ...new Set(
    [machineClass?.credentialsSecretRef?.name ?? "", machineClass?.secretRef?.name ?? ""].filter((name) => name !== ""),
  ),
];

/** The objects of a call to a cloud. */
interface CallObjects {
  readonly namespace: string;
  readonly className: string;
  /** The Secret with the credentials, where it is known. */
  readonly secretName?: string | undefined;
}

/** What a user can do about a call to the cloud that fails with a code of the driver contract; `undefined` for one that shows no cause. */
export function remedyOfCode(code: string, { namespace, className, secretName = "" }: CallObjects): Remedy | undefined {
  const doctor = `millwright doctor ${className} -n ${namespace}`;
  const editClass = `kubectl edit machineclass ${className} -n ${namespace}`;
  switch (code) {
    case "Unauthenticated":
      return {
        text: `Write valid credentials into Secret ${secretName}; the next attempt follows immediately.`,
        commands: [`kubectl edit secret ${secretName} -n ${namespace}`, doctor],
      };
    case "PermissionDenied":
      return {
        text: `Grant the missing permission to the identity in Secret ${secretName}; doctor checks all of them.`,
        commands: [doctor],
      };
    case "ResourceExhausted":
      return {
        text: "Raise the quota in the cloud, name fallback classes in the MachineClass, or scale down.",
        commands: [editClass],
      };
    case "Unavailable":
    case "DeadlineExceeded":
      return {
        text: "Nothing is needed if the cloud recovers by itself. If it limits requests, raise the limit, or find who else sends them.",
        commands: [doctor],
      };
    case "InvalidArgument":
    case "FailedPrecondition":
    case "OutOfRange":
    case "Unimplemented":
      return {
        text: "Correct the MachineClass or its Secret; the next attempt follows immediately.",
        commands: [editClass, doctor],
      };
    default:
      return undefined;
  }
}

/** What a user can do about a class of which no VM can be created. The message of a failed call starts with its code. */
export function classRemedy({ reason, message }: ClassStatus, objects: CallObjects): Remedy {
  const { namespace, className, secretName = "" } = objects;
  const doctor = `millwright doctor ${className} -n ${namespace}`;
  switch (reason) {
    case machineEventReasons.invalidMachineClass:
      return {
        text: `Correct the named fields of MachineClass ${className}; the next attempt follows immediately.`,
        commands: [`kubectl edit machineclass ${className} -n ${namespace}`, doctor],
      };
    case machineEventReasons.invalidSecret:
      return {
        text: `Correct the named keys of Secret ${secretName}; the next attempt follows immediately.`,
        commands: [`kubectl edit secret ${secretName} -n ${namespace}`, doctor],
      };
    case machineEventReasons.driverNotFound:
      return {
        text: "Name a loaded driver in the class, or load this one with --driver.",
        commands: [`kubectl edit machineclass ${className} -n ${namespace}`],
      };
    case machineEventReasons.secretNotFound:
      return {
        text: `Create Secret ${secretName}, or name an existing one in the class.`,
        commands: [`kubectl get secrets -n ${namespace}`, doctor],
      };
    default:
      return (
        remedyOfCode(message.split(":", 1)[0] ?? "", objects) ?? {
          text: `Fix what MachineClass ${className} reports; doctor checks it, its Secret and the quota of its cloud.`,
          commands: [doctor],
        }
      );
  }
}
