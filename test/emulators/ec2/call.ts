import type { Parameters } from "./parameters.ts";
import type { Ec2World } from "./world.ts";
import type { XmlGroup } from "./xml.ts";

/** Region and account of an action. */
export interface Ec2Call {
  readonly world: Ec2World;
  readonly region: string;
  readonly account: string;
}

/** An action: reads its parameters, rejects or executes it, and returns the content of its response. */
export type Ec2Action = (parameters: Parameters, call: Ec2Call) => XmlGroup;
