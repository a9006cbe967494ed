import { Secret, type SecretData } from "@millwright/base";
import type { ClassIdentity, CreateMachineRequest, MachineIdentity } from "@millwright/core";
import type { NodeTemplate } from "@millwright/core/machine-api";
import { parseRecord, toJson } from "./json-text.ts";
import type { SecretBytes, WireClass, WireMachine, WireRequest } from "./messages.ts";
import { nonEmpty, present } from "./present.ts";

/** What requests of the contract consist of. */
export interface RequestParts {
  readonly machine?: MachineIdentity;
  /** `spec` is providerSpec as the user wrote it. */
  readonly machineClass?: ClassIdentity<unknown>;
  readonly secret?: SecretData;
  readonly idempotencyToken?: string;
  readonly userData?: Secret;
  readonly volumes?: readonly Readonly<Record<string, unknown>>[];
}

const toWireMachine = (machine: MachineIdentity): WireMachine =>
  present({
    name: machine.name,
    namespace: machine.namespace,
    uid: machine.uid,
    providerId: machine.providerId,
    labels: nonEmpty(machine.labels),
    annotations: nonEmpty(machine.annotations),
    nodeAnnotations: nonEmpty(machine.nodeAnnotations),
  });

const toWireClass = ({ name, spec, nodeTemplate }: ClassIdentity<unknown>): WireClass =>
  present({
    name,
    providerSpec: toJson(spec),
    nodeTemplate: nodeTemplate === undefined ? undefined : toJson(nodeTemplate),
  });

/** Data of a Secret for a message. The values are revealed: they go to a driver. */
export const toWireSecret = (secret: SecretData): SecretBytes =>
  Object.fromEntries(Object.entries(secret).map(([key, value]) => [key, value.revealBytes()]));

/** A request for the wire. */
export const toWireRequest = (request: RequestParts, recordExchanges: boolean): WireRequest =>
  present({
    machine: request.machine === undefined ? undefined : toWireMachine(request.machine),
    machineClass: request.machineClass === undefined ? undefined : toWireClass(request.machineClass),
    secret: request.secret === undefined ? undefined : toWireSecret(request.secret),
    idempotencyToken: request.idempotencyToken,
    userData: request.userData?.revealBytes(),
    volumes: request.volumes?.map(toJson),
    options: recordExchanges ? { recordExchanges } : undefined,
  });

/** The machine of a request. */
export function fromWireMachine(machine: WireMachine | undefined): MachineIdentity {
  const { name = "", namespace = "", uid = "", providerId, labels, annotations, nodeAnnotations } = machine ?? {};
  return present({
    name,
    namespace,
    uid,
    providerId,
    labels: nonEmpty(labels),
    annotations: nonEmpty(annotations),
    nodeAnnotations: nonEmpty(nodeAnnotations),
  });
}

/** The data of the class secret of a request. */
export const fromWireSecret = (secret: SecretBytes | undefined): SecretData =>
  Object.fromEntries(Object.entries(secret ?? {}).map(([key, value]) => [key, Secret.of(value)]));

/** The class of a request without its spec, which the schema of the driver reads. */
export function fromWireClass(machineClass: WireClass | undefined): Omit<ClassIdentity<unknown>, "spec"> {
  const { name = "", nodeTemplate } = machineClass ?? {};
  // The host has checked it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const template = parseRecord(nodeTemplate) as NodeTemplate | undefined;
  return present({ name, nodeTemplate: template });
}

/** What only a creation has. */
export const fromWireCreation = ({
  idempotencyToken = "",
  userData,
}: WireRequest): Pick<CreateMachineRequest<unknown>, "idempotencyToken" | "userData"> => ({
  idempotencyToken,
  userData: Secret.of(userData ?? new Uint8Array()),
});

/** The volumes of a request; one that is not JSON is empty, so that the others keep their places. */
export const fromWireVolumes = ({ volumes = [] }: WireRequest): readonly Readonly<Record<string, unknown>>[] =>
  volumes.map((text) => parseRecord(text) ?? {});
