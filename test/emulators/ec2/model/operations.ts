import * as ec2 from "@aws-sdk/client-ec2";
import * as sts from "@aws-sdk/nested-clients/sts";
import { NormalizedSchema } from "@smithy/core/schema";

/** The model of one operation in the SDK: its schemas of requests and responses. */
export interface OperationModel {
  readonly name: string;
  /** The rules of EC2's own protocol, or those of AWS's query protocol. */
  readonly protocol: "ec2Query" | "awsQuery";
  readonly version: string;
  readonly input: NormalizedSchema;
  readonly output: NormalizedSchema;
}

type Schema = Parameters<typeof NormalizedSchema.of>[0];
type OperationSchema = readonly [9, string, string, unknown, Schema, Schema];

const isOperation = (value: unknown): value is OperationSchema => Array.isArray(value) && value[0] === 9;

/** The model of an operation of EC2 or STS; undefined for an unknown one. */
export function operationModel(name: string): OperationModel | undefined {
  const services = [
    { protocol: "ec2Query", version: "2016-11-15", shapes: ec2 },
    { protocol: "awsQuery", version: "2011-06-15", shapes: sts },
  ] as const;
  for (const { protocol, version, shapes } of services) {
    const schema: unknown = Reflect.get(shapes, `${name}$`);
    if (!isOperation(schema)) continue;
    const [input, output] = [NormalizedSchema.of(schema[4]), NormalizedSchema.of(schema[5])];
    return { name, protocol, version, input, output };
  }
  return undefined;
}
