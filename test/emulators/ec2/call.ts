import type { Parameters } from "./parameters.ts";
import type { Ec2World } from "./world.ts";
import type { XmlGroup } from "./xml.ts";

/** Where and for whom an action runs. */
export interface Ec2Call {
  readonly world: Ec2World;
  readonly region: string;
  readonly account: string;
}

/** An action: reads its parameters, refuses or does it, and gives the content of its answer. */
export type Ec2Action = (parameters: Parameters, call: Ec2Call) => XmlGroup;
