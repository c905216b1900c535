(class_declaration name: (identifier) @name body: (_)? @body) @class
(record_declaration name: (identifier) @name body: (_)? @body) @class
(struct_declaration name: (identifier) @name body: (_)? @body) @struct
(interface_declaration name: (identifier) @name body: (_)? @body) @interface
(enum_declaration name: (identifier) @name body: (_)? @body) @enum
(delegate_declaration name: (identifier) @name) @type
(method_declaration name: (identifier) @name body: (_)? @body) @method
(property_declaration name: (identifier) @name accessors: (_) @body) @variable
(property_declaration name: (identifier) @name !accessors value: (_) @body) @variable
(field_declaration (modifier "const") (variable_declaration (variable_declarator
  name: (identifier) @name (_)? @body))) @constant
(field_declaration (modifier "static") (modifier "readonly") (variable_declaration
  (variable_declarator name: (identifier) @name (_)? @body))) @constant
