(class_declaration "class" name: (identifier) @name
  [(class_body) (enum_class_body)]? @body) @class
(class_declaration "interface" name: (identifier) @name (class_body)? @body) @interface
(object_declaration name: (identifier) @name (class_body)? @body) @class
(function_declaration name: (identifier) @name (function_body)? @body) @function
(property_declaration (variable_declaration . (identifier) @name) @until) @variable
(type_alias type: (identifier) @name) @type

; What stands here is nobody's member.
(anonymous_initializer) @local
(enum_entry (class_body) @local)
(object_literal) @local
