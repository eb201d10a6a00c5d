# kind=cap; source: external entities and inclusions of XML
import xml.etree.ElementTree as tree
found = []
for text in (
    '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
    '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd" parse="text"/></a>',
):
    try:
        found.append(tree.tostring(tree.fromstring(text)))
    except Exception:
        pass
for way in (lambda: tree.parse("/etc/passwd"), lambda: tree.ElementTree(file="/etc/passwd"),
            lambda: tree.ElementTree(tree.Element("a")).write(target["folder"] + "/written"), lambda: tree.iterparse("/etc/passwd")):
    try:
        way()
        found.append("root:")
    except Exception:
        pass
escaped = [each for each in found if "root:" in str(each)]
