(class_declaration name: (identifier) @name body: (_) @body) @class
(record_declaration name: (identifier) @name body: (_) @body) @class
(interface_declaration name: (identifier) @name body: (_) @body) @interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @interface
(enum_declaration name: (identifier) @name body: (_) @body) @enum
(method_declaration name: (identifier) @name body: (block)? @body) @method
(annotation_type_element_declaration name: (identifier) @name) @method
(constant_declaration declarator: (variable_declarator
  name: (identifier) @name value: (_)? @body)) @constant
(field_declaration (modifiers "static" "final") declarator: (variable_declarator
  name: (identifier) @name value: (_)? @body)) @constant
(field_declaration (modifiers "final" "static") declarator: (variable_declarator
  name: (identifier) @name value: (_)? @body)) @constant

; Classes without a name.
(object_creation_expression (class_body) @local)
(enum_constant body: (class_body) @local)
