import { isRecord } from "@millwright/base";
import { crds, machineApiVersion } from "@millwright/core/machine-api";
import { jsonSchemaOf } from "@millwright/core/driver-kit";
import { awsSpecSchema } from "@millwright/provider-aws";
import { azureSpecSchema } from "@millwright/provider-azure";
import { gcpSpecSchema } from "@millwright/provider-gcp";
import { qemuSpecSchema } from "@millwright/provider-qemu";

/** The providers whose package has a schema of its classes. */
const specs = { aws: awsSpecSchema, azure: azureSpecSchema, gcp: gcpSpecSchema, qemu: qemuSpecSchema } as const;

/**
 * A JSON Schema for manifests of classes of a driver, which editors read: fields of a MachineClass, with `providerSpec` of the driver. Documents of other kinds in the same file are not checked. Rules
 * over several fields are not in it.
 */
function classSchema(provider: string, spec: (typeof specs)[keyof typeof specs]): object {
  const crd = crds().find(({ spec: { names } }) => names.kind === "MachineClass");
  const fields = crd?.spec.versions[0]?.schema.openAPIV3Schema;
  const ofDriver = jsonSchemaOf(spec, "draft-07");
  const { $schema, ...providerSpec } = isRecord(ofDriver) ? ofDriver : {};
  return {
    $schema,
    title: `MachineClass of the driver ${provider}`,
    if: {
      required: ["apiVersion", "kind"],
      properties: { apiVersion: { const: machineApiVersion }, kind: { const: "MachineClass" } },
    },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { ...fields, properties: { ...fields?.properties, providerSpec } },
  };
}

/** The files of the schemas by their path in the repository. */
export const classSchemaFiles = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(specs).map(([provider, spec]) => [
      `providers/${provider}/machine-class.schema.json`,
      `${JSON.stringify(classSchema(provider, spec), null, 2)}\n`,
    ]),
  );
