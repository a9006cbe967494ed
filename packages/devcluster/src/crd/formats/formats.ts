import { isIPv4, isIPv6 } from "node:net";

const dateTime = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
const goDuration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h|d|w))+)$/;
const dns1123 = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/i;

/** The string formats that kube-apiserver checks in custom resources; others are annotations only. */
export const stringFormats: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  datetime: (text) => dateTime.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) => goDuration.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  hostname: (text) => text.length <= 253 && dns1123.test(text),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => {
    const [address = "", bits = ""] = text.split("/");
    return (
      /^\d{1,3}$/.test(bits) && ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128))
    );
  },
  mac: (text) => /^[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}$/i.test(text),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  uri: (text) => URL.canParse(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
};
