/** An intended difference from the model. */
export interface ModelException {
  readonly operation: RegExp;
  readonly difference: RegExp;
  readonly reason: string;
}

/** All intended differences. */
export const exceptions: readonly ModelException[] = [
  {
    operation: /^VirtualMachines_/,
    difference: /hardwareProfile\.vmSize is not a value of VirtualMachineSizeTypes: /,
    reason:
      "the list is of 2021 and will not be longer (its description in the SDK): sizes are found by ResourceSkus_List",
  },
  {
    operation: /_List/,
    difference: /^parameter \$skiptoken is not in the model$/,
    reason: "part of nextLink, which a client takes as it is",
  },
  {
    operation: /^(VirtualMachines|Disks)_/,
    difference: /(imageReference|availabilitySet|virtualMachineScaleSet)\.id is not a resource ID: /,
    reason: "the driver hands on what the class names; tests name images and sets by short ids",
  },
];

/** Operations of which no package of the SDK that is installed publishes a model, and why. */
export const unpublished: Readonly<Record<string, string>> = {
  MarketplaceAgreements_Create: "@azure/arm-marketplaceordering keeps its model inside of the client",
  MarketplaceAgreements_Get: "@azure/arm-marketplaceordering keeps its model inside of the client",
  OpenIdConfiguration: "Entra ID: OpenID Connect Discovery 1.0",
  Operations_Get: "addresses that ARM itself has given out (Azure Resource Manager RPC, Asynchronous Operations)",
  Permissions_ListForResourceGroup:
    "Azure Authorization REST API, Permissions - List For Resource Group; @azure/arm-authorization is not used by the driver",
  ResourceGroups_CheckExistence: "@azure/arm-resources is not used by the driver",
  Resources: "@azure/arm-resourcegraph is not used by the driver",
  Token: "Entra ID: RFC 6749",
};
