/** Names of Azure's clouds, as `cloudConfiguration.name` spells them. */
export const cloudNames = ["AzurePublic", "AzureChina", "AzureGovernment"] as const;

/** One of {@link cloudNames}. */
export type CloudName = (typeof cloudNames)[number];

/** Whether a text names a cloud. Azure's SDKs compare the names without case. */
export const isCloudName = (text: string): boolean => cloudNames.some((name) => isSame(name, text));

const isSame = (name: CloudName, text: string): boolean => name.toLowerCase() === text.trim().toLowerCase();

/** The cloud that a class names, in any case; the public one where it names none. */
export const cloudNamed = (text: string): CloudName => cloudNames.find((name) => isSame(name, text)) ?? "AzurePublic";

/** Where a cloud is. */
export interface Cloud {
  /** Azure Resource Manager. */
  readonly endpoint: string;
  /** Entra ID. */
  readonly authorityHost: string;
  /** What tokens are for. The SDK does not follow the cloud with it. */
  readonly scope: string;
}

/** The clouds, as `azcore/cloud` of Azure's SDK for Go has them. */
const clouds: Readonly<Record<CloudName, Cloud>> = {
  AzurePublic: {
    endpoint: "https://management.azure.com",
    authorityHost: "https://login.microsoftonline.com",
    scope: "https://management.azure.com/.default",
  },
  AzureChina: {
    endpoint: "https://management.chinacloudapi.cn",
    authorityHost: "https://login.chinacloudapi.cn",
    scope: "https://management.core.chinacloudapi.cn/.default",
  },
  AzureGovernment: {
    endpoint: "https://management.usgovcloudapi.net",
    authorityHost: "https://login.microsoftonline.us",
    scope: "https://management.core.usgovcloudapi.net/.default",
  },
};

/** The cloud of a name, or whatever stands in its place at an address. */
export const cloudAt = (name: CloudName, endpoint?: string): Cloud =>
  endpoint === undefined ? clouds[name] : { endpoint, authorityHost: endpoint, scope: `${endpoint}/.default` };
