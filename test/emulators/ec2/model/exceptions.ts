/** An intended difference from the model. */
export interface ModelException {
  readonly operation: string;
  readonly difference: RegExp;
  readonly reason: string;
}

/** All intended differences. A row that is not needed any more fails a test. */
export const exceptions: readonly ModelException[] = [
  {
    operation: "RunInstances",
    difference: /^parameter InstanceType is not a value of its enum: /,
    reason:
      "EC2 has types that are newer than the SDK: the driver sends what the class names, and EC2 refuses the unknown",
  },
  {
    operation: "DescribeInstanceTypes",
    difference: /^parameter InstanceType\.\d+ is not a value of its enum: /,
    reason: "as for RunInstances",
  },
  {
    operation: "ModifyNetworkInterfaceAttribute",
    difference: /^answer return is not in the model$/,
    reason:
      "EC2 answers <return>true</return> (API reference, ModifyNetworkInterfaceAttribute), and the model has no output",
  },
];
